// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.operator.api.v1alpha1.SidecarProfileSpec;
import io.sidewarp.operator.controller.Yaml;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProfileRulesTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "sidewarp.limits.connections: many | sidewarp.limits.connections is many: Expected an integer value",
                "sidewarp.limits.connections: '0' | sidewarp.limits.connections is 0; allowed: 1 to 1048576",
                "sidewarp.limits.connections: '' | sidewarp.limits.connections is empty: give it a value, or leave it out",
                "sidewarp.limits.conections: '1' | sidewarp.limits.conections is no setting of the sidecar (settings)",
                "sidewarp.sctp.rto-min: 1s | its name is sidewarp.advanced.sctp.rto-min",
                "sidewarp.drain-timeout: soon | sidewarp.drain-timeout is soon: Invalid duration",
                "sidewarp.extensions: maybe | sidewarp.extensions is maybe: allowed: true or false",
                "sidewarp.connection.crc: '${CRC}' | CRC",
                "sidewarp.connection.crc: refused | name it in sidewarp.connection.integrity-protection",
            })
    void aSettingWithWhichNoSidecarStartsIsWrongInTheWordsOfTheSidecar(String setting, String words) {
        assertThat(whatIsWrong("{settings: {" + setting + "}}"))
                .get()
                .asString()
                .startsWith("a sidecar does not start with its settings: ")
                .contains(words)
                .endsWith("; correct settings");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sidewarp.limits.connections: '256'",
                "sidewarp.connection.timeout: 2m",
                "sidewarp.provider: auto",
                "sidewarp.rdma-devices: 'siw0,siw1'",
                "sidewarp.connection.crc: refused, sidewarp.connection.integrity-protection: IPsec with AES-GCM",
            })
    void aSettingOfTheSidecarIsNot(String settings) {
        assertThat(whatIsWrong("{settings: {" + settings + "}}")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{resources: {limits: {memory: 1Gi}}}",
                "{resources: {limits: {memory: 1024Mi, cpu: 1}}}",
                "{sharedMemory: 4Gi, resources: {limits: {memory: 3Gi}}}",
            })
    void aLimitOfMemoryThatSharedRegionsCanUseUpIsWrong(String profile) {
        assertThat(whatIsWrong(profile))
                .get()
                .asString()
                .contains("not above what shared regions can take of it")
                .containsPattern("raise the limit to [25]Gi, or have less shared memory");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{sharedMemory: 64Gi}",
                "{resources: {limits: {memory: 1Gi}}, sharedMemory: 512Mi}",
                "{resources: {limits: {cpu: 1}}}",
                "{resources: {limits: {memory: 1Gi, hugepages-2Mi: 4Gi}}}",
                "{resources: {requests: {memory: 2Gi}}}",
            })
    void aLimitOfMemoryWithRoomForSharedRegionsIsNot(String profile) {
        assertThat(whatIsWrong(profile)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{requests: {hugepages-2Mi: 1Gi, cpu: 1}}; request of hugepages-2Mi (1Gi) without a limit of the same amount",
                "{requests: {hugepages-2Mi: 1Gi, cpu: 1}, limits: {hugepages-2Mi: 2Gi}}; request of hugepages-2Mi (1Gi)"
                        + " without a limit of the same amount",
                "{requests: {}, limits: {hugepages-2Mi: 2Gi}}; only with cpu or memory",
                "{limits: {hugepages-2Mi: 3Mi}}; 'resources has 3Mi of hugepages-2Mi, which is no whole number of pages;"
                        + " give a multiple of 2Mi'",
                "{limits: {hugepages-1Gi: 1G}}; 1G of hugepages-1Gi, which is no whole number of pages",
                "{limits: {hugepages-2Mi: 2500m}}; 2500m of hugepages-2Mi, which is no whole number of pages",
                "{limits: {hugepages-big: 2Mi}}; \"hugepages-big\", which names no size of huge pages",
            })
    void hugePagesThatTheApiServerWouldRefuseAreWrong(String resources, String wrong) {
        assertThat(whatIsWrong("{resources: " + resources + "}"))
                .get()
                .asString()
                .contains(wrong);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{limits: {hugepages-2Mi: 2Gi}}",
                "{limits: {hugepages-2Mi: 0, hugepages-1Gi: 1024Mi}}",
                "{requests: {hugepages-2Mi: 2048Mi, cpu: 1}, limits: {hugepages-2Mi: 2Gi}}",
                "{requests: {}, limits: {hugepages-2Mi: 2Gi, memory: 2Gi}}",
            })
    void aLimitOfHugePagesWithTheSameRequestOrNoneIsNot(String resources) {
        assertThat(whatIsWrong("{resources: " + resources + "}")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{limits: {memroy: 2Gi}}; resources has \"memroy\", which no container can have; there are cpu, memory,"
                        + " ephemeral-storage, hugepages-SIZE",
                "{requests: {CPU: 1}}; \"CPU\", which no container can have",
                "{limits: {storage: 1Gi}}; \"storage\", which",
                "{limits: {example.com/: 1}}; \"example.com/\", which",
                "{limits: {Example.com/gpu: 1}}; \"Example.com/gpu\", which",
                "{limits: {example.com/gpu/a: 1}}; \"example.com/gpu/a\", which",
                "{limits: {requests.example.com/gpu: 1}}; \"requests.example.com/gpu\", which",
                "{limits: {kubernetes.io/: 1}}; \"kubernetes.io/\", which",
                "{requests: {example.com/gpu: 1}}; a request of example.com/gpu (1) without a limit of the same amount",
                "{requests: {example.com/gpu: 1}, limits: {example.com/gpu: 2}}; a request of example.com/gpu (1) without",
                "{requests: {example.com/gpu: 2}, limits: {example.com/gpu: 1}}; a request of example.com/gpu (2) without",
                "{limits: {example.com/gpu: 0.5}}; 0.5 of example.com/gpu, which cannot be divided",
                "{limits: {example.com/gpu: 1500m}}; 1500m of example.com/gpu, which cannot be divided",
                "{limits: {sidewarp.io/rnic: 1}}; resources has sidewarp.io/rnic; remove it, rnics of the profile says",
            })
    void resourcesThatTheApiServerWouldRefuseAreWrong(String resources, String wrong) {
        assertThat(whatIsWrong("{resources: " + resources + "}"))
                .get()
                .asString()
                .contains(wrong);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{requests: {cpu: 0.5, memory: 1Gi, ephemeral-storage: 1Gi}, limits: {cpu: 1500m, ephemeral-storage: 2Gi}}",
                "{limits: {example.com/gpu: 1}}",
                "{requests: {a-b.example/G_p.u: 2000m}, limits: {a-b.example/G_p.u: 2}}",
                "{requests: {deviceclass.resource.kubernetes.io/fast: 1}}",
            })
    void resourcesThatContainersCanHaveAreNot(String resources) {
        assertThat(whatIsWrong("{resources: " + resources + "}")).isEmpty();
    }

    /** The API server takes shorter names only. */
    @Test
    void aLongDomainOrNameOfAResourceIsWrong() {
        assertThat(whatIsWrong("{resources: {limits: {" + "a".repeat(244) + "/" + "b".repeat(63) + ": 1}}}"))
                .isEmpty();
        assertThat(whatIsWrong("{resources: {limits: {" + "a".repeat(245) + "/b: 1}}}"))
                .isPresent();
        assertThat(whatIsWrong("{resources: {limits: {a/" + "b".repeat(64) + ": 1}}}"))
                .isPresent();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sidewarp.api.socket",
                "sidewarp.api-socket",
                "sidewarp.shared.volume",
                "sidewarp.management-port",
                "sidewarp.volume",
            })
    void aSettingThatTheOperatorSetsIsWrongHoweverItIsWritten(String name) {
        assertThat(whatIsWrong("{settings: {" + name + ": x}}"))
                .hasValue("settings has " + name + ", which the operator sets itself; remove it");
    }

    @Test
    void theDirectoryOfTemporaryFilesIsNoneForRegions() {
        assertThat(whatIsWrong("{mountPath: /tmp}"))
                .hasValue("mountPath is /tmp, where programs have their temporary files; choose another directory, for"
                        + " instance /tmp/sidewarp");
        assertThat(whatIsWrong("{mountPath: /tmp/sidewarp}")).isEmpty();
    }

    @Test
    void anotherSettingIsNot() {
        assertThat(whatIsWrong("{settings: {sidewarp.management.connections: '16'}}"))
                .isEmpty();
    }

    private static Optional<String> whatIsWrong(String profile) {
        return ProfileRules.whatIsWrong(Yaml.parse(profile, SidecarProfileSpec.class), "shop", TestPods.OFFER);
    }
}
