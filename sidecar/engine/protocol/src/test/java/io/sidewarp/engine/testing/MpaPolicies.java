// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.MpaPolicy;
import java.util.function.UnaryOperator;

/** Changes of a start-up policy that many tests need. */
public final class MpaPolicies {

    private MpaPolicies() {}

    /** The M and C bits that a side declares. */
    public static UnaryOperator<MpaPolicy> bits(boolean m, boolean c) {
        return policy -> policy.withReceiveMarkers(m).withCrc(c ? CrcPolicy.PREFERRED : CrcPolicy.REFUSED);
    }
}
