"""The last line of ``make links`` names the broken links, or says that there is no network."""

import sys

from pages import DOCS

sys.path.insert(0, str(DOCS / "extensions"))

from link_summary import summary

ANCHOR = {"uri": "#here", "status": "unchecked"}


def checked(**statuses):
    return [ANCHOR, *({"uri": f"https://{name}.test", "status": status} for name, status in statuses.items())]


def test_all_links_work():
    assert summary(checked(a="working", b="redirected")) == ("links: all 2 links to other sites work", True)


def test_broken_links_are_named():
    text, fine = summary(checked(a="working", b="broken", c="timeout"))
    assert not fine
    assert text.endswith("2 of 3 links to other sites are broken: https://b.test, https://c.test")


def test_a_machine_without_a_network():
    text, fine = summary(checked(a="broken", b="timeout"))
    assert not fine
    assert "offline" in text
