// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.llp.sctp.SctpUser;

/** Gives new associations their users. */
@FunctionalInterface
public interface SctpAssociationHandler {

    /**
     * An association is up. Called on its loop, before any other call about it; {@link SctpUser#onEstablished} follows.
     *
     * @return the user of the association
     */
    SctpUser onAssociation(SctpAssociation association);
}
