"""The names and addresses of this machine, as they stand in an address."""

import ipaddress
import socket

import ifaddr
import pytest

from possibal.labelling.web.interfaces import machine_hosts


def test_the_name_of_this_machine_is_among_them():
    found = machine_hosts()
    assert socket.gethostname().lower() in found
    assert len(found) == len(set(found))


def test_no_address_is_for_this_machine_alone():
    for host in machine_hosts():
        try:
            ip = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            continue
        assert not ip.is_loopback
        assert (ip.version == 6) == host.startswith("[")


def test_addresses_of_the_older_kind_come_first(monkeypatch):
    def adapter(*addresses):
        ips = [ifaddr.IP(one, 24, "eth0") for one in addresses]
        return ifaddr.Adapter("eth0", "eth0", ips)

    found = [
        adapter("127.0.0.1", ("::1", 0, 0)),
        adapter(("2001:db8::1", 0, 0), ("fe80::1%eth0", 0, 2), "192.0.2.7"),
    ]
    monkeypatch.setattr(ifaddr, "get_adapters", lambda: found)
    monkeypatch.setattr(socket, "gethostname", lambda: "Host.example")
    assert machine_hosts() == ["192.0.2.7", "[2001:db8::1]", "host.example", "host.local"]


@pytest.mark.parametrize("name", ["a", "a.b.c"])
def test_the_name_that_local_networks_use_has_one_part(monkeypatch, name):
    monkeypatch.setattr(socket, "gethostname", lambda: name)
    assert machine_hosts()[-1] == "a.local"
