"""Rules, betting, trees and their payoffs, rake, bet sizes, lines, ranges."""
