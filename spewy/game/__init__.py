"""Rules, betting, trees and what their ends pay, rake, bet sizes, lines, ranges."""
