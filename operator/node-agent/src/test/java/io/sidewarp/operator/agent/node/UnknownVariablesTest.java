// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.common.UnknownVariables;
import io.sidewarp.operator.agent.deviceplugin.DevicePluginConfig;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnknownVariablesTest {

    @Test
    void settingsOfBothGroupsAreKnownAndOthersAreNot() {
        Set<String> names =
                Set.of("SIDEWARP_AGENT_SIW_PREFIX", "SIDEWARP_AGENT_KUBELET_TIMEOUT", "SIDEWARP_AGENT_SIWPREFIX");

        assertThat(UnknownVariables.in(names, "SIDEWARP_AGENT_", AgentConfig.class, DevicePluginConfig.class))
                .contains("SIDEWARP_AGENT_SIWPREFIX (is it SIDEWARP_AGENT_SIW_PREFIX?)");
    }
}
