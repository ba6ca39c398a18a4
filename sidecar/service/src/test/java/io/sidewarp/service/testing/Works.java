// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.sidewarp.v1.ReadWork;
import io.sidewarp.v1.ReceiveWork;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RemoteAddress;
import io.sidewarp.v1.SendWork;
import io.sidewarp.v1.Sge;
import io.sidewarp.v1.WorkRequest;
import io.sidewarp.v1.WriteWork;

/** Makes work requests. */
public final class Works {

    private Works() {}

    public static Sge sge(Region region, long offset, long length) {
        return Sge.newBuilder()
                .setRegion(region.getId())
                .setOffset(offset)
                .setLength(length)
                .build();
    }

    public static RemoteAddress remote(Region region, long offset) {
        return RemoteAddress.newBuilder()
                .setStag(region.getStag())
                .setTaggedOffset(region.getBaseTaggedOffset() + offset)
                .build();
    }

    public static WorkRequest.Builder write(long id, long connection, Region from, Region to, long length) {
        return WorkRequest.newBuilder()
                .setId(id)
                .setConnection(connection)
                .setWrite(WriteWork.newBuilder().addLocal(sge(from, 0, length)).setRemote(remote(to, 0)));
    }

    public static WorkRequest.Builder read(long id, long connection, Region to, Region from, long length) {
        return WorkRequest.newBuilder()
                .setId(id)
                .setConnection(connection)
                .setRead(ReadWork.newBuilder().addLocal(sge(to, 0, length)).setRemote(remote(from, 0)));
    }

    public static WorkRequest.Builder send(long id, long connection, Region from, long length) {
        return WorkRequest.newBuilder()
                .setId(id)
                .setConnection(connection)
                .setSend(SendWork.newBuilder().addLocal(sge(from, 0, length)));
    }

    /** A receive of a shared receive queue. */
    public static WorkRequest.Builder sharedReceive(long id, long queue, Region to, long offset, long length) {
        return WorkRequest.newBuilder()
                .setId(id)
                .setSharedReceiveQueue(queue)
                .setReceive(ReceiveWork.newBuilder().addLocal(sge(to, offset, length)));
    }

    public static WorkRequest.Builder receive(long id, long connection, Region to, long offset, long length) {
        return WorkRequest.newBuilder()
                .setId(id)
                .setConnection(connection)
                .setReceive(ReceiveWork.newBuilder().addLocal(sge(to, offset, length)));
    }
}
