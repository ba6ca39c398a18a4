// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.agent.dra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.sidewarp.operator.agent.device.RnicDevice;
import io.sidewarp.operator.testing.DraDefinitions;
import io.sidewarp.operator.testing.RealApiServer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the ResourceSlices that the driver publishes. */
@RealApiServer
class SlicePublisherTest extends DraDriverFixture {
    @Test
    void slicesFollowTheDevicesAndBelongToTheNode() throws Exception {
        startWith(FIRST, SECOND);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(published()).containsExactlyInAnyOrder("0000-3b-01-0", "0000-3b-01-1"));
        ResourceSlice before = slices().getFirst();
        assertThat(before.getSpec().getNodeName()).isEqualTo(node);
        assertThat(before.getSpec().getDriver()).isEqualTo(DRIVER);
        assertThat(before.getSpec().getPool().getName()).isEqualTo(node);
        assertThat(before.getSpec().getPool().getResourceSliceCount()).isEqualTo(1);
        assertThat(before.getMetadata().getOwnerReferences()).containsExactly(OWNER);

        devices.publish(List.of(FIRST, SECOND.faulty("the link is down")));
        await().atMost(LIMIT).untilAsserted(() -> assertThat(published()).containsExactly("0000-3b-01-0"));
        assertThat(slices().getFirst().getSpec().getPool().getGeneration())
                .isGreaterThan(before.getSpec().getPool().getGeneration());
    }

    @Test
    void slicesThatAreRightAreNotWrittenAgain() throws Exception {
        startWith(FIRST, RnicDevice.soft(0), RnicDevice.soft(1));
        await().atMost(LIMIT).until(() -> !slices().isEmpty());
        String before = slices().getFirst().getMetadata().getResourceVersion();
        int registrations = kubelet.claims().registrations();

        kubelet.restart();
        await().atMost(LIMIT).until(() -> kubelet.claims().registrations() > registrations);
        // The publication of another device shows that the former one is over.
        devices.publish(List.of(FIRST, SECOND, RnicDevice.soft(0), RnicDevice.soft(1)));
        await().atMost(LIMIT).until(() -> published().contains("0000-3b-01-1"));

        assertThat(slices().getFirst().getSpec().getPool().getGeneration()).isEqualTo(2);
        assertThat(slices().getFirst().getMetadata().getResourceVersion()).isNotEqualTo(before);
    }

    @Test
    void slicesThatAStartingKubeletDeletedComeBack() throws Exception {
        startWith(FIRST);
        await().atMost(LIMIT).until(() -> !slices().isEmpty());

        kubelet.stop();
        slices().forEach(slice -> client.resource(slice).delete());
        kubelet.start();

        await().atMost(LIMIT).until(() -> published().contains("0000-3b-01-0"));
    }

    @Test
    void surplusSlicesAreDeleted() throws Exception {
        DraDefinitions.install(client, false);
        startWith(functions(300).toArray(RnicDevice[]::new));
        await().atMost(LIMIT).until(() -> published().size() == 300);
        assertThat(slices()).hasSize(3).allSatisfy(slice -> {
            assertThat(slice.getSpec().getDevices()).hasSizeLessThanOrEqualTo(128);
            assertThat(slice.getSpec().getPool().getResourceSliceCount()).isEqualTo(3);
        });

        devices.publish(List.of(FIRST));

        await().atMost(LIMIT).until(() -> slices().size() == 1);
        assertThat(published()).containsExactly("0000-3b-01-0");
    }

    @Test
    void aRefusedDeletionIsMadeUpForByTheNextPublication() {
        AtomicReference<String> refused = new AtomicReference<>("none");
        List<RnicDevice> many = functions(300);
        try (KubernetesClient other = refusingDeletion(refused)) {
            SlicePublisher publisher = new SlicePublisher(other, node);
            for (List<RnicDevice> few : List.of(List.of(FIRST), List.<RnicDevice>of())) {
                publisher.publish(many);
                assertThat(sliceNames()).hasSize(3);

                refused.set(node + "-rnic-1");
                assertThatThrownBy(() -> publisher.publish(few)).hasMessageContaining("forbidden");

                refused.set("none");
                publisher.publish(few);
                assertThat(sliceNames()).hasSize(few.size());
            }
        }
    }

    private List<String> sliceNames() {
        return slices().stream().map(slice -> slice.getMetadata().getName()).toList();
    }

    /** Returns a client that deletes the object of a name as a user who may not. */
    private KubernetesClient refusingDeletion(AtomicReference<String> name) {
        Interceptor nobody = new Interceptor() {
            @Override
            public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
                if (request.method().equals("DELETE") && request.uri().getPath().endsWith("/" + name.get())) {
                    builder.setHeader("Impersonate-User", "nobody");
                }
            }
        };
        return new KubernetesClientBuilder()
                .withConfig(client.getConfiguration())
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("nobody", nobody))
                .build();
    }

    private static List<RnicDevice> functions(int count) {
        return IntStream.range(0, count)
                .mapToObj(
                        i -> RnicDevice.hardware("0000:%02x:%02x.0".formatted(i / 32, i % 32), "iwp" + i, "uverbs" + i))
                .toList();
    }

    @Test
    void sharesAreGroupsWhereADeviceCanHaveSeveralAllocations() throws Exception {
        DraDefinitions.install(client, false);
        boolean consumable = DraDefinitions.isBuiltIn(client)
                && Integer.parseInt(client.getKubernetesVersion().getMinor().replaceAll("[^0-9]", "")) >= 36;
        startWith(IntStream.range(0, 20).mapToObj(RnicDevice::soft).toArray(RnicDevice[]::new));
        List<String> groups = names("soft-shared-", 16);
        List<String> shares = names("soft-", 20);
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(published()).containsExactlyInAnyOrderElementsOf(consumable ? groups : shares));

        DraDefinitions.install(client, true);
        int registrations = kubelet.claims().registrations();
        kubelet.restart();
        await().atMost(LIMIT).until(() -> kubelet.claims().registrations() > registrations);

        boolean always = consumable || !DraDefinitions.isBuiltIn(client);
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(published()).containsExactlyInAnyOrderElementsOf(always ? groups : shares));
    }

    private static List<String> names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(number -> prefix + number).toList();
    }

    @Test
    void aDriverThatOffersNothingRemovesTheSlicesOfAFormerOne() throws Exception {
        startWith(FIRST);
        await().atMost(LIMIT).until(() -> !slices().isEmpty());
        driver.close();

        driver = newDriver();
        driver.start();
        driver.offer(false, Optional.of(OWNER));

        await().atMost(LIMIT).until(() -> slices().isEmpty());
        assertThat(kubelet.claims().registry()).isEmptyDirectory();
    }
}
