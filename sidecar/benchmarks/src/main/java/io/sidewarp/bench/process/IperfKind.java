// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.process;

import io.sidewarp.engine.net.CongestionControl;
import java.util.List;

/** Ways to run one stream of iperf3. */
public enum IperfKind {
    /** Defaults of iperf3: 128 KiB to the socket at a time. */
    DEFAULT(128, CongestionControl.AUTOMATIC),
    /** Largest throughput with the machine's congestion control. */
    LARGE(1024, CongestionControl.AUTOMATIC),
    /** The same size with the engine's congestion control on loopback. */
    LIKE_ENGINE(1024, CongestionControl.LOCAL);

    private final int kib;
    private final String congestionControl;

    IperfKind(int kib, String congestionControl) {
        this.kib = kib;
        this.congestionControl = congestionControl;
    }

    /** Returns the bytes of each write and read of a socket. */
    public int length() {
        return kib << 10;
    }

    /** Name of the congestion control, empty for the machine's. */
    public String congestionControl() {
        return congestionControl;
    }

    /** Options of the client. */
    List<String> options() {
        String length = kib + "K";
        return congestionControl.isEmpty() ? List.of("-l", length) : List.of("-l", length, "-C", congestionControl);
    }

    /** Returns the command in the notation of a shell. */
    @Override
    public String toString() {
        return "iperf3 " + String.join(" ", options());
    }
}
