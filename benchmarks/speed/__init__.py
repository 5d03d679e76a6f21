"""How long it takes: solves, kernels, decisions of bots, stores."""
