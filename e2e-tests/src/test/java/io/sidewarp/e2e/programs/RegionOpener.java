// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.programs;

import io.sidewarp.client.Access;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SidewarpException;
import java.nio.file.Path;

/**
 * A client that registers a file of the shared volume, and writes to it. Prints {@value #OPENED}, or the status and the
 * error message.
 *
 * <p>Arguments: the API's address, the shared volume, the name of the file in that volume, and the size in bytes of a
 * file to create.
 */
public final class RegionOpener {

    public static final String OPENED = "opened";

    private RegionOpener() {}

    public static void main(String[] arguments) {
        ClientOptions options =
                ClientOptions.defaults().withTarget(arguments[0]).withSharedVolume(Path.of(arguments[1]));
        try (SidewarpClient client = SidewarpClient.connect(options);
                Session session = client.openSession("region-opener");
                SharedRegion region = arguments.length == 4
                        ? session.createSharedRegion(arguments[2], Long.parseLong(arguments[3]), Access.LOCAL_WRITE)
                        : session.openSharedRegion(arguments[2], 0, 0, Access.LOCAL_WRITE)) {
            region.buffer().put(0, (byte) 1);
            System.out.println(OPENED);
        } catch (SidewarpException e) {
            System.out.println(e.code() + " " + e.getMessage());
        }
    }
}
