# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Image with the Java client and the examples. README.md, "In pods", tells how to build it. Build the client before.
FROM eclipse-temurin:25-jdk
COPY sidecar/cli/target/lib /sidewarp/lib
COPY tools/jvm/program.args /sidewarp/
COPY examples /examples
ENV CLASSPATH=/sidewarp/lib/* JDK_JAVA_OPTIONS=@/sidewarp/program.args
USER 65532:65532
