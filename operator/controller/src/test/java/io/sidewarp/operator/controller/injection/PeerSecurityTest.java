// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.injection;

import static io.sidewarp.operator.controller.injection.MutatedPods.MUTATOR;
import static io.sidewarp.operator.controller.injection.MutatedPods.RICH;
import static io.sidewarp.operator.controller.injection.MutatedPods.SIMPLE;
import static io.sidewarp.operator.controller.injection.MutatedPods.environment;
import static io.sidewarp.operator.controller.injection.MutatedPods.inject;
import static io.sidewarp.operator.controller.injection.MutatedPods.mounts;
import static io.sidewarp.operator.controller.injection.MutatedPods.parse;
import static io.sidewarp.operator.controller.injection.MutatedPods.sidecar;
import static io.sidewarp.operator.controller.injection.TestPods.BUNDLE;
import static io.sidewarp.operator.controller.injection.TestPods.OFFER;
import static io.sidewarp.operator.controller.injection.TestPods.profile;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.sidewarp.operator.api.v1alpha1.IdentitySource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what a profile's peers and identity add to a pod. */
class PeerSecurityTest {

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{security: plain}", "{plainPeers: refused}"})
    void profileWithoutPeersAndIdentityAddsNothing(String profile) {
        Pod pod = MUTATOR.mutate(parse(RICH), inject(profile, true, 0));

        assertThat(PeerSecurity.of(profile(profile), "shop", OFFER)).isEqualTo(PeerSecurity.NONE);
        assertThat(environment(sidecar(pod)).keySet())
                .noneMatch(name -> name.startsWith("SIDEWARP_CONNECTION_") || name.startsWith("SIDEWARP_IDENTITY_"));
        assertThat(pod.getSpec().getVolumes())
                .extracting(Volume::getName)
                .containsExactly("data", "sidewarp-api", "sidewarp-shared", "sidewarp-tmp");
        assertThat(mounts(pod, "sidewarp")).containsOnlyKeys("sidewarp-api", "sidewarp-shared", "sidewarp-tmp");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{namespace: shop, serviceAccount: cart} | ns/shop/sa/cart",
                "{serviceAccount: db-*}                  | ns/here/sa/db-*",
                "{namespace: shop}                       | ns/shop/sa/*",
                "{namespace: '*'}                        | ns/*/sa/*",
                "{spiffeId: spiffe://example.org/ns/**}  | spiffe://example.org/ns/**",
                "{namespace: a}, {namespace: b}          | ns/a/sa/*,ns/b/sa/*",
            })
    void peersBecomePatternsOfTheSidecar(String peers, String patterns) {
        String profile = "{peers: [" + peers + "], identity: {source: builtin}}";

        assertThat(PeerSecurity.of(profile(profile), "here", OFFER).settings())
                .containsEntry("sidewarp.connection.peers", patterns)
                .doesNotContainKey("sidewarp.connection.plain-peers");
        assertThat(wrong(profile)).isEmpty();
    }

    @Test
    void builtinIdentityIsATokenThatOnlyTheSidecarMounts() {
        Pod original = parse(SIMPLE);
        original.getSpec().setAutomountServiceAccountToken(false);

        Pod pod =
                MUTATOR.mutate(original, inject("{peers: [{namespace: shop}], identity: {source: builtin}}", true, 0));

        assertThat(environment(sidecar(pod)))
                .containsEntry("SIDEWARP_IDENTITY_SOURCE", "builtin")
                .containsEntry("SIDEWARP_IDENTITY_DIRECTORY", "/run/sidewarp-identity")
                .containsEntry("SIDEWARP_IDENTITY_ISSUER", "https://sidewarp-identity.sidewarp-system.svc:9444")
                .containsEntry("SIDEWARP_IDENTITY_TRUST_BUNDLE", BUNDLE)
                .containsEntry("SIDEWARP_CONNECTION_PEERS", "ns/shop/sa/*");
        assertThat(identity(pod).getProjected().getSources()).singleElement().satisfies(source -> {
            assertThat(source.getServiceAccountToken().getAudience()).isEqualTo("sidewarp");
            assertThat(source.getServiceAccountToken().getExpirationSeconds()).isEqualTo(3600);
            assertThat(source.getServiceAccountToken().getPath()).isEqualTo("token");
        });
        assertMountedBySidecarOnly(pod);
        assertThat(pod.getSpec().getAutomountServiceAccountToken()).isFalse();
    }

    @Test
    void filesAreInAVolumeOfCertManagerWhichTheGroupOfTheSidecarCanRead() {
        Pod pod = MUTATOR.mutate(
                parse(SIMPLE), inject("{security: required, runAsGroup: 99, identity: {source: files}}", true, 0));

        assertThat(environment(sidecar(pod)))
                .containsEntry("SIDEWARP_CONNECTION_SECURITY", "required")
                .containsEntry("SIDEWARP_IDENTITY_SOURCE", "files")
                .containsEntry("SIDEWARP_IDENTITY_DIRECTORY", "/run/sidewarp-identity")
                .doesNotContainKeys("SIDEWARP_IDENTITY_ISSUER", "SIDEWARP_IDENTITY_TRUST_BUNDLE");
        assertThat(identity(pod).getCsi().getDriver()).isEqualTo("spiffe.csi.cert-manager.io");
        assertThat(identity(pod).getCsi().getReadOnly()).isTrue();
        assertThat(identity(pod).getCsi().getVolumeAttributes())
                .isEqualTo(Map.of("spiffe.csi.cert-manager.io/fs-group", "99"));
        assertMountedBySidecarOnly(pod);
    }

    @Test
    void anotherDriverOfFilesGetsNoAttributes() {
        Pod pod = MUTATOR.mutate(
                parse(SIMPLE), inject("{identity: {source: files, csiDriver: podcert.example.com}}", true, 0));

        assertThat(identity(pod).getCsi().getDriver()).isEqualTo("podcert.example.com");
        assertThat(identity(pod).getCsi().getVolumeAttributes()).isNullOrEmpty();
    }

    @Test
    void spiffeIsASocketInAVolumeOfTheSpiffeDriver() {
        Pod pod = MUTATOR.mutate(parse(SIMPLE), inject("{identity: {source: spiffe}}", true, 0));

        assertThat(environment(sidecar(pod)))
                .containsEntry("SIDEWARP_IDENTITY_SOURCE", "spiffe")
                .containsEntry("SIDEWARP_IDENTITY_SOCKET", "unix:///run/sidewarp-identity/spire-agent.sock")
                .doesNotContainKeys("SIDEWARP_IDENTITY_DIRECTORY", "SIDEWARP_CONNECTION_SECURITY");
        assertThat(identity(pod).getCsi().getDriver()).isEqualTo("csi.spiffe.io");
        assertMountedBySidecarOnly(pod);
    }

    @Test
    void filesAndTheWorkloadApiCanBeInAVolumeOfThePod() {
        for (String source : List.of("files", "spiffe")) {
            Pod original = parse("{apiVersion: v1, kind: Pod, spec: {containers: [{name: app, image: a}], volumes:"
                    + " [{name: sidewarp-identity, projected: {sources: [{podCertificate: {signerName: a/b}}]}}]}}");

            Pod pod = MUTATOR.mutate(original, inject("{identity: {source: " + source + "}}", true, 0));

            assertThat(identity(pod)).isEqualTo(original.getSpec().getVolumes().getFirst());
            assertMountedBySidecarOnly(pod);
            assertThat(collision(original, "{identity: {source: " + source + "}}"))
                    .isEmpty();
        }
    }

    @Test
    void theTokenOfBuiltinCanBeInNoVolumeOfThePod() {
        Pod pod = parse("{apiVersion: v1, kind: Pod, spec: {containers: [{name: app, image: a}], volumes:"
                + " [{name: sidewarp-identity, emptyDir: {}}]}}");

        assertThat(collision(pod, "{identity: {source: builtin}}"))
                .get()
                .asString()
                .contains("the pod has a volume of its own named sidewarp-identity; rename it");
        assertThat(collision(pod, "{}")).isEmpty();
    }

    private static Optional<String> collision(Pod pod, String profile) {
        return PodCollisions.whatIsWrong(
                pod,
                profile(profile),
                Set.of("app"),
                Set.of(),
                PeerSecurity.of(profile(profile), "shop", OFFER).source());
    }

    @Test
    void profileNamesAnotherSocketOfTheWorkloadApi() {
        Pod pod = MUTATOR.mutate(
                parse(SIMPLE),
                inject(
                        "{identity: {source: spiffe}, settings: {sidewarp.identity.socket: 'unix:///run/other'}}",
                        true,
                        0));

        assertThat(environment(sidecar(pod))).containsEntry("SIDEWARP_IDENTITY_SOCKET", "unix:///run/other");
    }

    @Test
    void profileWithoutASourceHasThatOfTheInstallation() {
        IdentityOffer files = new IdentityOffer(Optional.of(IdentitySource.FILES), Optional.empty(), Optional.empty());

        assertThat(PeerSecurity.of(profile("{peers: [{namespace: a}]}"), "shop", files)
                        .source())
                .contains(IdentitySource.FILES);
        assertThat(PeerSecurity.of(profile("{}"), "shop", files)).isEqualTo(PeerSecurity.NONE);
    }

    @Test
    void aPodThatHasItsSidecarGetsNoIdentityLater() {
        Pod once = MUTATOR.mutate(parse(SIMPLE), inject("{}", true, 0));

        Pod twice = MUTATOR.mutate(once, inject("{identity: {source: spiffe}}", true, 0));

        assertThat(twice).isEqualTo(once);
    }

    @Test
    void plainPeersAreASettingOfTheSidecar() {
        String profile = "{peers: [{namespace: shop}], plainPeers: allowed, identity: {source: builtin}}";

        assertThat(PeerSecurity.of(profile(profile), "shop", OFFER).settings())
                .containsEntry("sidewarp.connection.plain-peers", "true");
        assertThat(wrong(profile)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{peers: [{namespace: a}]} | neither identity.source of the profile nor identity.source of the chart's",
                "{security: preferred}     | set one of them to builtin, files or spiffe",
                "{identity: {}}            | the sidecar needs an identity for TLS",
                "{peers: [{}], identity: {source: files}} | peers[0] has no member; give either spiffeId",
                "{peers: [{namespace: a}, {namespace: b, spiffeId: 'spiffe://c/d'}], identity: {source: files}}"
                        + " | peers[1] has spiffeId and other members",
                "{peers: [{namespace: a}], security: plain, identity: {source: files}}"
                        + " | security is plain, and with peers it is required; remove security",
                "{peers: [{namespace: a}], security: required, plainPeers: allowed, identity: {source: files}}"
                        + " | security is required, and with peers and plainPeers it is preferred; remove security",
                "{plainPeers: allowed} | plainPeers is allowed, and peers is unset",
                "{identity: {source: builtin, csiDriver: a}} | identity.csiDriver is a, and the source builtin has no",
                "{settings: {sidewarp.connection.peers: ns/a/sa/b}} | which the operator sets itself; remove it",
                "{settings: {sidewarp.identity.source: files}}      | which the operator sets itself; remove it",
            })
    void profileThatCannotWorkIsWrong(String profile, String words) {
        assertThat(wrong(profile)).get().asString().contains(words);
    }

    @Test
    void patternThatTheSidecarRefusesIsWrongInItsWords() {
        assertThat(wrong("{peers: [{spiffeId: 'spiffe://a/**/b'}], identity: {source: files}}"))
                .get()
                .asString()
                .startsWith("a sidecar does not start with its settings: ")
                .contains("sidewarp.connection.peers", "** can only be the whole last segment")
                .endsWith("; correct security, peers, identity or settings");
    }

    @Test
    void builtinNeedsACaOfTheController() {
        IdentityOffer starting = new IdentityOffer(Optional.empty(), OFFER.issuer(), Optional.empty());
        String builtin = "{identity: {source: builtin}}";

        assertThat(ProfileRules.whatIsWrong(profile(builtin), "shop", IdentityOffer.NONE))
                .get()
                .asString()
                .contains("the controller signs no certificates; set identity.enabled of the chart's values to true");
        assertThat(ProfileRules.whatIsWrong(profile(builtin), "shop", starting)).isEmpty();
        assertThat(ProfileRules.waitsForCa(profile(builtin), starting)).isTrue();
        assertThat(ProfileRules.waitsForCa(profile(builtin), OFFER)).isFalse();
        assertThat(ProfileRules.waitsForCa(profile("{}"), starting)).isFalse();
    }

    private static Optional<String> wrong(String profile) {
        return ProfileRules.whatIsWrong(profile(profile), "shop", OFFER);
    }

    private static Volume identity(Pod pod) {
        return pod.getSpec().getVolumes().stream()
                .filter(volume -> volume.getName().equals("sidewarp-identity"))
                .findFirst()
                .orElseThrow();
    }

    private static void assertMountedBySidecarOnly(Pod pod) {
        assertThat(mounts(pod, "app")).doesNotContainKey("sidewarp-identity");
        assertThat(sidecar(pod).getVolumeMounts())
                .filteredOn(mount -> mount.getName().equals("sidewarp-identity"))
                .singleElement()
                .returns("/run/sidewarp-identity", VolumeMount::getMountPath)
                .returns(true, VolumeMount::getReadOnly);
    }
}
