// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.common.UnknownVariables;
import io.sidewarp.operator.agent.deviceplugin.DevicePluginConfig;
import io.sidewarp.operator.agent.dra.DraConfig;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UnknownVariablesTest {

    @Test
    void settingsOfAllGroupsAreKnownAndOthersAreNot() {
        Set<String> names = Set.of(
                "SIDEWARP_AGENT_SIW_PREFIX",
                "SIDEWARP_AGENT_KUBELET_TIMEOUT",
                "SIDEWARP_AGENT_CDI_DIRECTORY",
                "SIDEWARP_AGENT_SIWPREFIX");

        assertThat(UnknownVariables.in(
                        names, "SIDEWARP_AGENT_", AgentConfig.class, DevicePluginConfig.class, DraConfig.class))
                .contains("SIDEWARP_AGENT_SIWPREFIX (is it SIDEWARP_AGENT_SIW_PREFIX?)");
    }
}
