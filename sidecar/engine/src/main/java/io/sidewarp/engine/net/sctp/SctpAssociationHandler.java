// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.llp.sctp.SctpUser;
import java.net.InetSocketAddress;

/** Gives new associations their users. */
@FunctionalInterface
public interface SctpAssociationHandler {

    /**
     * An association is up. Called on its loop, before any other call about it; {@link SctpUser#onEstablished} follows.
     *
     * @return the user of the association
     */
    SctpUser onAssociation(SctpAssociation association);

    /** A peer gets no association because there are {@link SctpSettings#maxAssociations} of peers. On the endpoint's loop. */
    default void onRefused(InetSocketAddress remote) {}
}
