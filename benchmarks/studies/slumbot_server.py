"""A local stand-in for Slumbot's server, at which ``spewy play slumbot`` can play without a network.

    python -m benchmarks.studies.slumbot_server [BOT] [--port 8080] [--seed 0] [--user NAME --password WORD]

BOT is the folder of a solved game of no-limit hold'em with 200 big blinds, or the name of a bot that plays by a fixed
rule, such as ``equity`` (see ``spewy match``). The server listens at 127.0.0.1 only, and ends with Ctrl-C. It is no
command of ``spewy``, since it is of no use to a player but for testing a client.
"""

import argparse
import threading

from benchmarks.command import as_command
from spewy.bot.options import Options
from spewy.competitions.slumbot.stand_in import StandIn, serving
from spewy.competitions.slumbot.text import slumbot_game
from spewy.match.entrant import parse_entrant


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "bot",
        nargs="?",
        default="equity",
        help="bot that plays in Slumbot's place: a rule, or the folder of a solved game",
    )
    parser.add_argument("--port", type=int, default=8080, help="port to listen on; 0: any free port")
    parser.add_argument("--seed", type=int, default=0, help="seed of the cards")
    parser.add_argument("--user", help="name of a user who can log in; default: no logins")
    parser.add_argument("--password", default="", help="password of --user")
    parser.add_argument(
        "--resolve", default="never", help="when a bot from a folder re-solves: never, off-tree or always"
    )
    args = parser.parse_args()
    bot = parse_entrant(args.bot, Options.of(resolve=args.resolve), kinds=("folder",)).open(slumbot_game())
    users = {args.user: args.password} if args.user else {}
    try:
        with serving(StandIn(bot, args.seed, users), args.port) as url:
            print(url, flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        bot.close()


if __name__ == "__main__":
    as_command(main)
