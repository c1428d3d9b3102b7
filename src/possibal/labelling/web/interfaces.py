"""Names and addresses by which other machines can reach this one."""

import ipaddress
import socket

import ifaddr


def machine_hosts() -> list[str]:
    """Addresses of the network interfaces, and the host name, as they stand in an address.

    Those that other machines can use come first, of IPv4 before IPv6; loopback is left out.
    """
    found = [ipaddress.ip_address(_text(ip.ip)) for one in ifaddr.get_adapters() for ip in one.ips]
    usable = [ip for ip in found if not ip.is_loopback and not ip.is_link_local]
    usable.sort(key=lambda ip: ip.version)
    name = socket.gethostname().lower()
    return list(dict.fromkeys([*map(_host, usable), name, f"{name.partition('.')[0]}.local"]))


def _text(ip: str | tuple[str, int, int]) -> str:
    """An address as ifaddr gives it: text, or of IPv6 with a flow and a scope."""
    return ip if isinstance(ip, str) else ip[0].partition("%")[0]


def _host(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """An address as it stands in an address of a page."""
    return str(ip) if ip.version == 4 else f"[{ip}]"  # noqa: PLR2004 - the Internet Protocol's own
