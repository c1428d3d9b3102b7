"""Plug-ins: strategies, encoders and readers of other distributions, by their entry points.

find_plugin(PluginGroup.STRATEGIES, "closest") -> Plugin | None      plugin.load() -> the function

What is installed is looked up when a name is none of ours, and imported when it is asked for.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from possibal.errors import PluginError, summary


class PluginGroup(StrEnum):
    """Groups of entry points that are read."""

    STRATEGIES = "possibal.strategies"
    ENCODERS = "possibal.encoders"
    READERS = "possibal.readers"


ARGUMENT = {
    PluginGroup.STRATEGIES: "strategy",
    PluginGroup.ENCODERS: "encoder",
    PluginGroup.READERS: "file",
}
"""What a user gives to get a plug-in of each group."""


@dataclass(frozen=True)
class Plugin:
    """An entry point of another distribution, not imported yet.

    Attributes:
        group: of entry points.
        name: by which it is asked for; of a reader the ending of files, with its point.
        entry: where it is.
    """

    group: PluginGroup
    name: str
    entry: EntryPoint

    @classmethod
    def of(cls, group: PluginGroup, entry: EntryPoint) -> "Plugin":
        """The plug-in of an entry point."""
        is_ending = group is PluginGroup.READERS
        return cls(group, f".{entry.name.lstrip('.').lower()}" if is_ending else entry.name, entry)

    @property
    def distribution(self) -> str:
        """The distribution that offers it, and its version."""
        found = self.entry.dist
        return "an unknown distribution" if found is None else f"{found.name} {found.version}"

    @property
    def version(self) -> str:
        """The version of its distribution."""
        return "" if self.entry.dist is None else self.entry.dist.version

    def load(self) -> Callable[..., Any]:
        """What it names, imported; one sentence if it cannot be."""
        try:
            found = self.entry.load()
        except Exception as error:  # whatever another's module does when it is imported
            got = f"{type(error).__name__}: {summary(error)}"
            raise self.refused("be importable where it is a plug-in", f" ({got})") from error
        is_encoder = self.group is PluginGroup.ENCODERS and not isinstance(found, str)
        if not callable(getattr(found, "encode", found) if is_encoder else found):
            raise self.refused("be a function where it is a plug-in", f" ({type(found).__name__})")
        return cast("Callable[..., Any]", found)

    def refused(self, rule: str, why: str = "") -> PluginError:
        """The sentence on a plug-in that cannot be had."""
        return PluginError(
            f"{ARGUMENT[self.group]} must {rule}; got {self.name!r} of the distribution "
            f"{self.distribution}{why}. Update that distribution, or uninstall it."
        )

    def check_free(self, taken: Collection[str]) -> None:
        """Refuse a name that is ours, which the plug-in would never be asked for by."""
        if self.name in taken:
            raise self.refused("have a name of its own where it is a plug-in")


def installed_plugins(group: PluginGroup) -> list[Plugin]:
    """The plug-ins of a group that are installed, in the order of their names."""
    found = (Plugin.of(group, entry) for entry in entry_points(group=group))
    return sorted(found, key=lambda plugin: (plugin.name, plugin.distribution))


def find_plugin(group: PluginGroup, name: str) -> Plugin | None:
    """The plug-in of a name that is none of ours; None where none is installed."""
    found = [plugin for plugin in installed_plugins(group) if plugin.name == name]
    for other in found[1:]:
        raise other.refused(
            "have a name of its own where it is a plug-in", f", as {found[0].distribution} has it"
        )
    return found[0] if found else None
