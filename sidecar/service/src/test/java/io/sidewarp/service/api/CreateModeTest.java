// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.CreateMode;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedBacking;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CreateModeTest {

    private TestSidecar sidecar;
    private TestSession session;

    @BeforeEach
    void start() {
        sidecar = TestSidecar.start();
        session = sidecar.session();
    }

    @AfterEach
    void stop() {
        session.close();
        sidecar.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = CreateMode.class,
            names = {"CREATE_MODE_MUST_BE_NEW", "CREATE_MODE_OPEN_OR_CREATE", "CREATE_MODE_REPLACE"})
    void eachModeCreatesAMissingFileThatGoesWithItsRegion(CreateMode mode) {
        Region region = register(file("new").setCreateMode(mode));

        assertThat(region.getFileExisted()).isFalse();
        assertThat(sidecar.sharedVolume().resolve("new")).hasSize(100);
        deregister(region);
        assertThat(sidecar.sharedVolume()).isEmptyDirectory();
    }

    @ParameterizedTest
    @EnumSource(
            value = CreateMode.class,
            names = {"CREATE_MODE_MUST_BE_NEW", "CREATE_MODE_OPEN_OR_CREATE", "CREATE_MODE_REPLACE"})
    void refusalTellsTheRegionThatHoldsTheFile(CreateMode mode) {
        Region holder = register(file("held").setCreate(true));

        Status status = refusal(file("held").setCreateMode(mode));

        assertThat(status.getCode()).isEqualTo(Status.Code.ALREADY_EXISTS);
        assertThat(status.getDescription())
                .contains("region " + holder.getId() + " of session \"" + holder.getSessionName() + "\"");
    }

    @Test
    void openOrCreateOpensTheApplicationsOwnFile() throws IOException {
        Files.write(sidecar.sharedVolume().resolve("own"), new byte[100]);

        Region region = register(file("own").setCreateMode(CreateMode.CREATE_MODE_OPEN_OR_CREATE));

        assertThat(region.getFileExisted()).isTrue();
        assertThat(refusal(file("own").setCreateMode(CreateMode.CREATE_MODE_REPLACE))
                        .getDescription())
                .contains("the application's own file");
        deregister(region);
        assertThat(sidecar.sharedVolume().resolve("own")).exists();
    }

    @Test
    void createContradictsOtherModes() {
        register(file("new").setCreate(true).setCreateMode(CreateMode.CREATE_MODE_MUST_BE_NEW));

        Status status = refusal(file("other").setCreate(true).setCreateMode(CreateMode.CREATE_MODE_REPLACE));

        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(status.getDescription()).contains("CREATE_MODE_REPLACE", "set one of them");
    }

    @Test
    void unknownModeIsRefused() {
        Status status = refusal(file("new").setCreateModeValue(77));

        assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(status.getDescription()).contains("shared.create_mode", "77", "_OPEN_OR_CREATE");
    }

    private static SharedBacking.Builder file(String path) {
        return SharedBacking.newBuilder().setPath(path).setLength(100);
    }

    private Region register(SharedBacking.Builder file) {
        return session.memory()
                .registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(session.token())
                        .setShared(file)
                        .build())
                .getRegion();
    }

    private void deregister(Region region) {
        DeregisterRegionRequest request = DeregisterRegionRequest.newBuilder()
                .setSession(session.token())
                .setRegion(region.getId())
                .build();
        assertThat(session.memory().deregisterRegion(request)).isNotNull();
    }

    private Status refusal(SharedBacking.Builder file) {
        return Waiting.status(() -> register(file));
    }
}
