// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.api.v1alpha1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.sidewarp.operator.testing.KubeApiServer;
import io.sidewarp.operator.testing.RealApiServer;
import io.sidewarp.operator.testing.TestNamespaces;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Applies each file of {@link Sample} to an API server that has the generated definitions. */
@RealApiServer
class CustomResourceValidationTest {

    private static final int UNPROCESSABLE = 422;

    private static SampleStore samples;

    @BeforeAll
    static void installDefinitions(KubernetesClient client, TestNamespaces namespaces) {
        samples = new SampleStore(client, namespaces);
    }

    @AfterEach
    void deleteWhatWasStored() {
        samples.clear();
    }

    @ParameterizedTest
    @MethodSource("io.sidewarp.operator.api.v1alpha1.Sample#valid")
    void validResourcesComeBackWithTheirDefaults(Sample sample) {
        GenericKubernetesResource stored = samples.store(sample);

        JsonNode returned = Sample.tree(Serialization.asJson(stored));
        JsonNode expected = sample.returned();
        assertThat(returned.get("spec")).isEqualTo(expected.get("spec"));
        assertThat(returned.get("status")).isEqualTo(expected.get("status"));
        CustomResource<?, ?> typed = Serialization.unmarshal(Serialization.asJson(stored), sample.type());
        assertThat(typed.getSpec())
                .as("defaults of the classes and of the definition")
                .isEqualTo(sample.typedInput().getSpec());
    }

    @ParameterizedTest
    @MethodSource("io.sidewarp.operator.api.v1alpha1.Sample#invalid")
    void invalidResourcesAreRefusedWithTheReason(Sample sample, KubeApiServer server) {
        assumeTrue(!sample.needsCel() || server.version().hasCel(), "Kubernetes " + server.version() + " has no CEL");

        KubernetesClientException refusal =
                catchThrowableOfType(KubernetesClientException.class, () -> samples.store(sample));

        assertThat(refusal).as("refusal").isNotNull();
        assertThat(refusal.getCode()).as(refusal.getMessage()).isEqualTo(UNPROCESSABLE);
        assertThat(refusal).hasMessageContainingAll(sample.refused().toArray(String[]::new));
    }
}
