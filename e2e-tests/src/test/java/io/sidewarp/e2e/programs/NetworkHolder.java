// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.programs;

import io.sidewarp.e2e.network.TestNetwork;
import io.sidewarp.e2e.support.Directories;
import io.sidewarp.e2e.support.OwnedProcess;
import java.util.List;

/**
 * Creates objects that tests create on a machine, and waits: a network, a process at one of its ends, and a directory.
 * Prints {@value #HAS} with the two namespaces, the process, and the directory.
 */
public final class NetworkHolder {

    public static final String HAS = "has ";

    private static final int MTU = 1500;

    private NetworkHolder() {}

    public static void main(String[] arguments) throws InterruptedException {
        TestNetwork network = TestNetwork.open(MTU, TestNetwork.Carrier.FAITHFUL);
        OwnedProcess shell = OwnedProcess.start(
                "sleeper",
                List.of("ip", "netns", "exec", network.left().namespace(), "sh", "-c", "sleep 600 & echo $!; wait"));
        String sleep = shell.awaitLine(line -> true);
        System.out.println(HAS
                + String.join(
                        " ",
                        network.left().namespace(),
                        network.right().namespace(),
                        sleep,
                        Directories.temporary("held").toString()));
        Thread.currentThread().join();
    }
}
