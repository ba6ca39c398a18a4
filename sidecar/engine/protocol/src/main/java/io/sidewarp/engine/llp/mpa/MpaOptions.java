// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.EnhancedData;
import io.sidewarp.engine.llp.Negotiation;
import io.sidewarp.engine.verbs.DepthNegotiation;
import io.sidewarp.engine.verbs.MpaPolicy;
import java.util.function.UnaryOperator;

/**
 * Options of an endpoint, in either role, for one MPA connection. Start from {@link #defaults} and change what differs.
 *
 * @param privateData data for the peer's Consumer, 0 to 512 bytes; not copied
 * @param maxPrivateData most bytes of Private Data that this side takes, 0 to 512; a peer's frame with more is invalid
 *     (RFC 5044 section 7.1.2 rule 9)
 * @param ird inbound RDMA Read Requests that this side serves at a time. The value is not raised for a peer that wants
 *     more: an Initiator then ends the connection (RFC 6581 section 9.1)
 * @param ord outbound RDMA Read Requests that this side wants at a time
 * @param closeOnReject whether TCP is closed after a Reply with R=1, sent or received, or left to the Consumer (section
 *     7.1.2 rules 2 and 3)
 */
public record MpaOptions(
        MpaPolicy policy, byte[] privateData, int maxPrivateData, int ird, int ord, boolean closeOnReject) {

    /** Maximum length of Private Data in a start-up frame, in bytes (RFC 5044 section 7.1.1). */
    public static final int MAX_PRIVATE_DATA = MpaFrameFlyweight.MAX_PD_LENGTH;

    /** Largest depth that can be negotiated. The highest of the 14-bit values has another meaning. */
    public static final int MAX_DEPTH = EnhancedData.NOT_NEGOTIATED - 1;

    private static final int DEFAULT_DEPTH = 16;

    private static final MpaOptions DEFAULTS =
            new MpaOptions(MpaPolicy.defaults(), new byte[0], MAX_PRIVATE_DATA, DEFAULT_DEPTH, DEFAULT_DEPTH, true);

    public MpaOptions {
        if (privateData.length > MAX_PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "Private Data of " + privateData.length + " bytes; MPA carries at most " + MAX_PRIVATE_DATA);
        }
        if (maxPrivateData < 0 || maxPrivateData > MAX_PRIVATE_DATA) {
            throw new IllegalArgumentException(
                    "maxPrivateData " + maxPrivateData + " is not in 0.." + MAX_PRIVATE_DATA);
        }
        if (ird < 0 || ird > MAX_DEPTH || ord < 0 || ord > MAX_DEPTH) {
            throw new IllegalArgumentException("IRD " + ird + " and ORD " + ord + " have to be in 0.." + MAX_DEPTH);
        }
    }

    /** Returns the default policy, no Private Data, up to 512 bytes of the peer's Private Data, and IRD and ORD 16. */
    public static MpaOptions defaults() {
        return DEFAULTS;
    }

    /** Bytes of Private Data that fit into the Request. Fewer than 512 where MPA itself needs bytes. */
    public int requestRoom() {
        return DepthForm.ofRequest(requestRevision(), policy.depths()).room();
    }

    /**
     * Rev of the Request. The enhanced formats are used only when a feature needs them (RFC 6581 section 10). The
     * depths alone are not negotiated when the Consumer needs the room that they take. The Consumer can do without
     * negotiated depths, but not without the peer-to-peer model.
     */
    public int requestRevision() {
        boolean fits = privateData.length <= DepthForm.ENHANCED.room();
        boolean enhanced = policy.peerToPeer() || policy.depths() != DepthNegotiation.NONE && fits;
        return enhanced || !policy.revisions().contains(1) ? policy.requestRevision() : 1;
    }

    /** Returns the terms for the negotiation of depths and connection model. */
    public Negotiation.Terms terms() {
        return terms(DepthForm.ENHANCED);
    }

    /**
     * Returns the terms for depths in the given form. Only the enhanced form has room for the connection model and a
     * value for depths that are not negotiated.
     */
    Negotiation.Terms terms(DepthForm form) {
        return new Negotiation.Terms(
                ird,
                ord,
                policy.depths() != DepthNegotiation.NONE || form == DepthForm.LEGACY,
                policy.peerToPeer() && form == DepthForm.ENHANCED,
                policy.rtr());
    }

    /** Returns a copy with a changed policy. */
    public MpaOptions with(UnaryOperator<MpaPolicy> change) {
        return withPolicy(change.apply(policy));
    }

    public MpaOptions withPolicy(MpaPolicy newPolicy) {
        return new MpaOptions(newPolicy, privateData, maxPrivateData, ird, ord, closeOnReject);
    }

    public MpaOptions withPrivateData(byte[] data) {
        return new MpaOptions(policy, data, maxPrivateData, ird, ord, closeOnReject);
    }

    public MpaOptions withMaxPrivateData(int octets) {
        return new MpaOptions(policy, privateData, octets, ird, ord, closeOnReject);
    }

    public MpaOptions withDepths(int newIrd, int newOrd) {
        return new MpaOptions(policy, privateData, maxPrivateData, newIrd, newOrd, closeOnReject);
    }

    public MpaOptions withCloseOnReject(boolean close) {
        return new MpaOptions(policy, privateData, maxPrivateData, ird, ord, close);
    }
}
