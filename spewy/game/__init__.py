"""The game: rules, betting, bet sizes, betting trees and ranges."""
