// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import org.junit.jupiter.api.Test;

/** Tests what devices of the kernel say about security. */
final class KernelSecurityTest {

    @Test
    void aDeviceOfTheKernelRefusesRequiredSecurityWithTheRemedy() {
        assertThat(KernelParameters.problem(SecurityPolicy.of(TlsUse.REQUIRED)))
                .satisfies(problem -> assertThat(problem.kind()).isEqualTo(Kind.INVALID_PARAMETERS))
                .hasMessageContaining("use a sidecar with the provider software, or `plain` with IPsec");
        assertThat(KernelParameters.problem(SecurityPolicy.of(TlsUse.PREFERRED)))
                .isNull();
        assertThat(KernelParameters.problem(SecurityPolicy.PLAIN)).isNull();
    }
}
