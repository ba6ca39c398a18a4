// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import io.sidewarp.engine.llp.mpa.MpaRole;
import java.util.Arrays;
import java.util.Locale;

/** Targets of fuzzing, with the names that `./sidewarp fuzz` uses. */
enum FuzzTarget {
    STARTUP_REQUEST,
    STARTUP_REPLY,
    FPDU,
    DDP,
    RDMAP,
    CONNECTION_RESPONDER,
    CONNECTION_INITIATOR,
    ASSOCIATION;

    static FuzzTarget named(String name) {
        return Arrays.stream(values())
                .filter(target -> target.toString().equals(name))
                .findAny()
                .orElseThrow(() -> new IllegalArgumentException(
                        "no fuzz target " + name + "; there are " + Arrays.toString(values())));
    }

    /** Runs one execution. Every exception is a finding. */
    void run(byte[] data) {
        switch (this) {
            case STARTUP_REQUEST -> StartupFuzzer.run(MpaRole.RESPONDER, data);
            case STARTUP_REPLY -> StartupFuzzer.run(MpaRole.INITIATOR, data);
            case FPDU -> FpduFuzzer.run(data);
            case DDP -> DdpFuzzer.run(data);
            case RDMAP -> RdmapFuzzer.run(data);
            case CONNECTION_RESPONDER -> ConnectionFuzzer.responder(data);
            case CONNECTION_INITIATOR -> ConnectionFuzzer.initiator(data);
            case ASSOCIATION -> AssociationFuzzer.run(data);
        }
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
