// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.net.InetAddress;

/** Identifies an association of an endpoint before its tags are known. */
record PeerKey(InetAddress address, int udpPort, int remotePort, int localPort) {}
