/** The panels of the look page, in the order of their tabs. */

export const LOOK_PANELS = [];
