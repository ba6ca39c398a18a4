// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The tests of a class need a real API server. They can take a {@link KubeApiServer}, its admin's
 * {@link io.fabric8.kubernetes.client.KubernetesClient}, and {@link TestNamespaces} of the class as parameters. All classes of
 * a JVM share one server (and one with a controller manager), so a test must cope with objects of others outside of its
 * namespaces. Where there can be no server, the tests are skipped, with the reason.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RealApiServerExtension.class)
public @interface RealApiServer {

    /** Whether a controller manager has to run. */
    boolean controllerManager() default false;
}
