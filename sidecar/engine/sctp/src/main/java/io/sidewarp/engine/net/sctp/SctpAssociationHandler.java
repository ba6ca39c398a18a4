// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.llp.sctp.SctpUser;
import java.net.InetSocketAddress;

/** Provides the users of new associations. */
@FunctionalInterface
public interface SctpAssociationHandler {

    /**
     * Handles an association that is up. Called on its loop, before any other call about it;
     * {@link SctpUser#onEstablished} follows.
     *
     * @return the user of the association
     */
    SctpUser onAssociation(SctpAssociation association);

    /**
     * Notes that a peer gets no association, because there are {@link SctpSettings#maxAssociations} of peers. Called on
     * the endpoint's loop.
     */
    default void onRefused(InetSocketAddress remote) {}
}
