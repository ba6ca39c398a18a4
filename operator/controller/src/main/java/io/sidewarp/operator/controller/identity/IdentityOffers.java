// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.identity;

import io.sidewarp.operator.controller.config.OperatorConfig;
import io.sidewarp.operator.controller.injection.IdentityOffer;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.Optional;
import java.util.function.Supplier;

/** Identities that this installation offers to sidecars now. */
@ApplicationScoped
public class IdentityOffers implements Supplier<IdentityOffer> {
    private final OperatorConfig config;
    private final IdentityCa ca;

    public IdentityOffers(OperatorConfig config, IdentityCa ca) {
        this.config = config;
        this.ca = ca;
    }

    @Override
    public IdentityOffer get() {
        return new IdentityOffer(
                config.identity().source(),
                config.identity().enabled() ? Optional.of(ca.issuer()) : Optional.empty(),
                ca.bundle());
    }
}
