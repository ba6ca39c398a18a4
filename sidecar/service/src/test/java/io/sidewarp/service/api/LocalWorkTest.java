// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static io.sidewarp.service.testing.Works.sge;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.EnableWork;
import io.sidewarp.v1.ListRegionsRequest;
import io.sidewarp.v1.LocalInvalidateWork;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.Opcode;
import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegionState;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WorkRequest;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests local invalidation and enabling of regions through the API. */
class LocalWorkTest extends TwoSidecars {

    private long connection;

    @BeforeEach
    void prepare() {
        connection = client.connectTo(server).here().getId();
    }

    private Region registered() {
        return client.memory()
                .registerRegion(RegisterRegionRequest.newBuilder()
                        .setSession(client.token())
                        .setConnection(connection)
                        .addAccess(Access.ACCESS_LOCAL_WRITE)
                        .addAccess(Access.ACCESS_REMOTE_WRITE)
                        .setManaged(ManagedBacking.newBuilder().setLength(64))
                        .build())
                .getRegion();
    }

    private Region onlyRegion() {
        List<Region> regions = client.memory()
                .listRegions(ListRegionsRequest.newBuilder()
                        .setSession(client.token())
                        .build())
                .getRegionsList();
        assertThat(regions).hasSize(1);
        return regions.getFirst();
    }

    private WorkRequest.Builder work(long id) {
        return WorkRequest.newBuilder().setId(id).setConnection(connection);
    }

    private WorkRequest invalidate(long id, Region region) {
        return work(id).setLocalInvalidate(LocalInvalidateWork.newBuilder().setRegion(region.getId()))
                .setFence(true)
                .setLocalFence(true)
                .build();
    }

    private WorkRequest enable(long id, Region region, int key) {
        return work(id).setEnable(
                        EnableWork.newBuilder().setRegion(region.getId()).setKey(key))
                .build();
    }

    private WorkRequest read(long id, Region to, Region from) {
        return work(id).setRead(ReadWork.newBuilder()
                        .addLocal(sge(to, 0, 3))
                        .setRemote(RemoteAddress.newBuilder().setStag(from.getStag())))
                .build();
    }

    @Test
    void aRegionIsInvalidatedAndEnabledWithAnotherKeyAndUsedByTheWorkBehind() {
        Region region = registered();
        Region source = server.managed(64, Access.ACCESS_REMOTE_READ);
        server.store(source.getId(), 0, new byte[] {1, 2, 3}, 3);
        int key = region.getStag() + 1 & 0xFF;
        try (TestQueue queue = client.queue(10)) {
            queue.credits();
            queue.post(invalidate(1, region));
            assertThat(queue.next().getOpcode()).isEqualTo(Opcode.OPCODE_LOCAL_INVALIDATE);
            assertThat(onlyRegion().getState()).isEqualTo(RegionState.REGION_STATE_INVALIDATED);

            queue.post(enable(2, region, key), read(3, region, source));
            assertThat(queue.next(2))
                    .extracting(WorkCompletion::getStatus)
                    .containsOnly(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        }
        assertThat(onlyRegion().getState()).isEqualTo(RegionState.REGION_STATE_VALID);
        assertThat(onlyRegion().getStag()).isEqualTo(region.getStag() & ~0xFF | key);
        assertThat(client.load(region.getId(), 0, 3)).containsExactly(1, 2, 3);
    }

    @Test
    void workOnAnInvalidatedRegionIsRefusedAndTheMessageSaysWhatToDo() {
        Region region = registered();
        Region source = server.managed(64, Access.ACCESS_REMOTE_READ);
        try (TestQueue queue = client.queue(10)) {
            queue.credits();
            queue.post(invalidate(1, region));
            queue.next();

            queue.post(read(2, region, source));

            WorkCompletion refused = queue.next();
            assertThat(refused.getStatus()).isEqualTo(CompletionStatus.COMPLETION_STATUS_LOCAL_PROTECTION_ERROR);
            assertThat(refused.getMessage()).contains("EnableWork");
        }
    }

    @Test
    void onlyRegionsOfTheConnectionAloneAndKeysOf8BitsAreTaken() {
        Region shared = client.managed(64, Access.ACCESS_REMOTE_WRITE);
        try (TestQueue queue = client.queue(10)) {
            queue.credits();
            queue.post(enable(1, shared, 1));
            assertThat(queue.next().getMessage()).contains("RegisterRegionRequest.connection");
            queue.post(
                    work(2).setLocalInvalidate(LocalInvalidateWork.newBuilder().setRegion(4711))
                            .build());
            assertThat(queue.next().getMessage()).contains("region 4711 is not registered");
            queue.post(
                    work(3).setLocalInvalidate(LocalInvalidateWork.newBuilder().setRegion(-1))
                            .build());
            assertThat(queue.next().getMessage()).contains("region 18446744073709551615 is not registered");
            Region region = registered();
            queue.post(enable(4, region, 256));
            assertThat(queue.next().getMessage()).contains("0..255");
        }
    }
}
