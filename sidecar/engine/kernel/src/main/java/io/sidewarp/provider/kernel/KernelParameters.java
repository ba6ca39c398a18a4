// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.DeviceAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.ReadDepths;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import org.jspecify.annotations.Nullable;

/** Checks the parameters of a connection, and collects the attributes of an established one. */
final class KernelParameters {

    private KernelParameters() {}

    /** Returns why the device cannot make a connection with these parameters, or null. */
    static @Nullable ConnectionFailedException problem(KernelDevice device, ConnectionParameters wanted) {
        DeviceAttributes own = device.attributes();
        if (wanted.llp() != Llp.TCP) {
            return invalid(device.absence(wanted.llp()).orElse("no such lower layer"));
        }
        ConnectionFailedException refusal = problem(wanted.security());
        if (refusal != null) {
            return refusal;
        }
        MpaPolicy mpa = wanted.mpa();
        if (mpa.crc() == CrcPolicy.REQUIRED || mpa.receiveMarkers() || mpa.peerToPeer() || mpa.maxFpdu() != 0) {
            return invalid(
                    "the device decides about CRCs, Markers, the size of FPDUs and the peer-to-peer model; ask for none"
                            + " of them");
        }
        if (wanted.ird() > own.maxIrd() || wanted.ord() > own.maxOrd()) {
            return invalid("the device has at most IRD " + own.maxIrd() + " and ORD " + own.maxOrd());
        }
        return problem(wanted.privateData());
    }

    /** Returns why the device cannot follow this policy, or null. */
    static @Nullable ConnectionFailedException problem(SecurityPolicy policy) {
        return policy.security() == TlsUse.REQUIRED
                ? invalid(
                        "security is `required`, and devices of the kernel speak no TLS; use a sidecar with the provider"
                                + " software, or `plain` with IPsec")
                : null;
    }

    /** Returns why this private data cannot be sent, or null. */
    static @Nullable ConnectionFailedException problem(byte[] privateData) {
        return privateData.length > KernelDevice.MAX_PRIVATE_DATA
                ? invalid(privateData.length + " bytes of private data; the device takes at most "
                        + KernelDevice.MAX_PRIVATE_DATA)
                : null;
    }

    private static ConnectionFailedException invalid(String message) {
        return new ConnectionFailedException(Kind.INVALID_PARAMETERS, message);
    }

    /**
     * Returns the result of start-up, as far as the connection manager reports it. The connection manager does not
     * report the revision of MPA, CRCs, Markers and the size of segments.
     */
    static ConnectionAttributes agreed(
            CmId id, boolean initiator, ConnectionParameters wanted, byte[] privateData, ReadDepths peer) {
        return new ConnectionAttributes(
                Llp.TCP,
                initiator,
                id.localAddress(),
                id.remoteAddress(),
                privateData,
                wanted.ird(),
                Math.min(wanted.ord(), peer.ird().orElse(wanted.ord())),
                peer,
                false,
                false,
                false,
                false,
                0,
                1,
                0,
                0,
                0);
    }
}
