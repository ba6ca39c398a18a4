// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.testing;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Starts the server of {@link RealApiServer} before the first class that needs it, and ends it after the last class.
 */
final class RealApiServerExtension implements ExecutionCondition, ParameterResolver {

    private static final Namespace NAMESPACE = Namespace.create(RealApiServerExtension.class);

    /** The server, or the reason why there is none. JUnit closes it together with its store. */
    private record Shared(@Nullable KubeApiServer server, String unavailable) implements AutoCloseable {

        static Shared start(boolean withControllers) {
            try {
                return new Shared(KubeApiServer.start(withControllers), "");
            } catch (KubeUnavailableException e) {
                return new Shared(null, String.valueOf(e.getMessage()));
            }
        }

        @Override
        public void close() {
            if (server != null) {
                server.close();
            }
        }
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        Shared shared = shared(context);
        return shared.server() == null
                ? ConditionEvaluationResult.disabled("no API server: " + shared.unavailable())
                : ConditionEvaluationResult.enabled("there is an API server");
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == KubeApiServer.class || type == KubernetesClient.class || type == TestNamespaces.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        KubeApiServer server = Objects.requireNonNull(shared(context).server());
        Class<?> type = parameter.getParameter().getType();
        if (type == KubeApiServer.class) {
            return server;
        }
        if (type == KubernetesClient.class) {
            return server.client();
        }
        ExtensionContext testClass = outermostClass(context);
        return testClass
                .getStore(NAMESPACE)
                .computeIfAbsent(
                        TestNamespaces.class,
                        key -> new TestNamespaces(server.client(), testClass.getRequiredTestClass()),
                        TestNamespaces.class);
    }

    private static Shared shared(ExtensionContext context) {
        boolean withControllers = AnnotationSupport.findAnnotation(
                        outermostClass(context).getRequiredTestClass(), RealApiServer.class)
                .map(RealApiServer::controllerManager)
                .orElse(false);
        return context.getRoot()
                .getStore(NAMESPACE)
                .computeIfAbsent(withControllers, key -> Shared.start(withControllers), Shared.class);
    }

    private static ExtensionContext outermostClass(ExtensionContext context) {
        ExtensionContext found = context;
        for (ExtensionContext parent = context;
                parent.getTestClass().isPresent();
                parent = parent.getParent().orElseThrow()) {
            found = parent;
        }
        return found;
    }
}
