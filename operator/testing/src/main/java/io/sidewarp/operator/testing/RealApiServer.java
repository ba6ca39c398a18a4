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
 * Marks a class whose tests need a real API server. Its tests can take parameters: a {@link KubeApiServer}, its admin's
 * {@link io.fabric8.kubernetes.client.KubernetesClient}, and the class's {@link TestNamespaces}. All classes of a JVM
 * share one server, and one more with a controller manager. A test must therefore tolerate foreign objects outside of
 * its namespaces. The tests are skipped, with the reason, on machines that cannot run a server.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RealApiServerExtension.class)
public @interface RealApiServer {

    /** True if a controller manager has to run. */
    boolean controllerManager() default false;
}
