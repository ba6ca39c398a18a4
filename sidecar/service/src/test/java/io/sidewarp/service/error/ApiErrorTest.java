// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.error;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.engine.memory.RegionException;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import org.junit.jupiter.api.Test;

class ApiErrorTest {

    @Test
    void aFileThatTheSidecarMayNotOpenIsAMatterOfPermission() {
        RegionException failure =
                new RegionException(RegionException.Reason.NO_PERMISSION, "no permission to open file; give access");

        Status status = ApiError.from(failure).getStatus();

        assertThat(status.getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(status.getDescription()).contains("give access");
    }

    @Test
    void anAssociationTooManyNamesTheSetting() {
        ConnectionFailedException failure = new ConnectionFailedException(
                ConnectionFailedException.Kind.LIMIT, "there are 2 associations already, as many as are allowed");

        Status status = ApiError.from(failure).getStatus();

        assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(status.getDescription()).contains("sidewarp.sctp.associations");
    }

    @Test
    void aRequestThatWasAnsweredBeforeIsNotFound() {
        ConnectionFailedException failure =
                new ConnectionFailedException(ConnectionFailedException.Kind.LAPSED, "it was answered before");

        assertThat(ApiError.from(failure).getStatus().getCode()).isEqualTo(Status.Code.NOT_FOUND);
    }

    @Test
    void aConnectionThatFailsOnThisSideIsNoMatterOfThePeer() {
        ConnectionFailedException failure = new ConnectionFailedException(
                ConnectionFailedException.Kind.INTERNAL, "the connection failed on this side: no memory");

        Status status = ApiError.from(failure).getStatus();

        assertThat(status.getCode()).isEqualTo(Status.Code.INTERNAL);
        assertThat(status.getDescription()).contains("no memory");
    }
}
