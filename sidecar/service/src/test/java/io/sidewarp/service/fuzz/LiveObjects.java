// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.JMException;
import javax.management.ObjectName;

/** Objects on the heap that are still reachable. */
final class LiveObjects {

    private LiveObjects() {}

    /** Returns the largest number of objects that one of some classes has. Collects garbage before. */
    static int count(List<String> classes) {
        String histogram;
        try {
            histogram = (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {new String[0]},
                            new String[] {String[].class.getName()});
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
        return histogram
                .lines()
                .map(line -> line.trim().split("\\s+"))
                .filter(columns -> columns.length >= 4 && classes.contains(columns[3]))
                .mapToInt(columns -> Integer.parseInt(columns[1]))
                .max()
                .orElse(0);
    }
}
