// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.show;

import io.grpc.Status;
import io.sidewarp.cli.Interruption;
import io.sidewarp.client.SidewarpException;
import java.util.function.Supplier;

/** Keeps a view alive while its sidecar restarts. A sidecar that has never answered is a failure. */
final class Reachable {

    private final String target;
    private boolean answered;

    /** @param target of the sidecar, for people */
    Reachable(String target) {
        this.target = target;
    }

    /** Returns a text about the sidecar. Without an answer, the text says so, and is empty for programs. */
    String textOr(Supplier<String> text, boolean forPrograms) {
        try {
            String result = text.get();
            answered = true;
            return result;
        } catch (SidewarpException e) {
            Interruption.check();
            if (!answered || !isGone(e)) {
                throw e;
            }
            return forPrograms
                    ? ""
                    : "no answer from the sidecar at " + target + "; still trying: " + e.getMessage() + "\n";
        }
    }

    private static boolean isGone(SidewarpException e) {
        return e.code() == Status.Code.UNAVAILABLE || e.code() == Status.Code.DEADLINE_EXCEEDED;
    }
}
