# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""Permitted peers: both sides verify each other by TLS."""

import subprocess

import pytest
import sidewarp
from conftest import ALL, run_both
from sidecar import ENVIRONMENT, PATIENCE, ROOT, Sidecar

CART = "spiffe://cluster.local/ns/shop/sa/cart"
STORE = "spiffe://cluster.local/ns/shop/sa/store"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificates")
    command = [str(ROOT / "sidewarp"), "identity", str(directory), "ns/shop/sa/cart", "ns/shop/sa/store"]
    subprocess.run(command, env=ENVIRONMENT, check=True, timeout=PATIENCE)
    return directory


@pytest.fixture(scope="module")
def sessions(certificates):
    started = []
    try:
        for name in ("cart", "store"):
            settings = {
                "sidewarp.identity.source": "files",
                "sidewarp.identity.directory": certificates / "ns/shop/sa" / name,
                "sidewarp.connection.security": "required",
            }
            started.append(Sidecar(name, settings=settings))
        cart, store = (sidecar.connect() for sidecar in started)
        with cart, store:
            yield cart, store
    finally:
        for sidecar in started:
            sidecar.stop()


def test_permitted_peers_see_the_verified_identity_of_the_other_side(sessions):
    cart, store = sessions
    with store.listen(0, "127.0.0.1", allowed_peers=["ns/shop/sa/cart"]) as listener:

        def accept():
            incoming = listener.request(PATIENCE)
            assert incoming.peer_identity == CART
            return incoming.accept()

        address = f"127.0.0.1:{listener.port}"
        connection, accepted = run_both(lambda: cart.dial(address, allowed_peers=["ns/shop/sa/*"]), accept)
        assert (connection.peer_identity, accepted.peer_identity) == (STORE, CART)
        connection.abort()


def test_peer_that_one_side_does_not_permit_is_refused(sessions):
    cart, store = sessions
    with store.listen(0, "127.0.0.1", allowed_peers=["ns/shop/sa/web"]) as listener:
        with pytest.raises(sidewarp.SidewarpError, match="does not permit the identity of this side"):
            cart.dial(f"127.0.0.1:{listener.port}")
    with store.listen(0, "127.0.0.1") as listener:
        with pytest.raises(sidewarp.SidewarpError, match=f"is {STORE}, which this connection does not permit"):
            cart.dial(f"127.0.0.1:{listener.port}", allowed_peers=["ns/other/sa/*"])


@pytest.mark.parametrize("identity, permitted", [(CART, True), ("spiffe://cluster.local/ns/shop/sa/web", False)])
def test_region_of_one_peer_serves_only_this_peer(sessions, identity, permitted):
    cart, store = sessions
    region = store.region(4096, access=ALL, peer_identity=identity)
    with store.listen(0, "127.0.0.1") as listener:
        connection, _ = run_both(lambda: cart.dial(f"127.0.0.1:{listener.port}"), lambda: listener.accept(PATIENCE))
    read = cart.queue().read(connection, cart.region(64)[0:8], region.address)
    if permitted:
        assert read.wait(PATIENCE).length == 8
    else:
        with pytest.raises(sidewarp.RemoteAccessError):
            read.wait(PATIENCE)
