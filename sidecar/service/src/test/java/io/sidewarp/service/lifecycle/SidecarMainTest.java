// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.Security;
import org.junit.jupiter.api.Test;

class SidecarMainTest {

    @Test
    void whatTheDnsSaidIsForgottenSoon() {
        SidecarMain.forgetNamesSoon();

        assertThat(Security.getProperty("networkaddress.cache.ttl")).isEqualTo("5");
        assertThat(Security.getProperty("networkaddress.cache.negative.ttl")).isEqualTo("1");
    }
}
