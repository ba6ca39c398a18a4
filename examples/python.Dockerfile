# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Image with the Python client and the examples. README.md, "In pods", tells how to build it.
FROM debian:12-slim AS stubs
RUN apt-get update \
    && apt-get install --yes --no-install-recommends protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
COPY proto /sidewarp/proto
COPY clients/python /sidewarp/clients/python
RUN /sidewarp/clients/python/generate

FROM debian:12-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3-grpcio python3-numpy python3-protobuf \
    && rm -rf /var/lib/apt/lists/*
COPY --from=stubs /sidewarp/clients/python/src/sidewarp /usr/lib/python3/dist-packages/sidewarp
COPY examples /examples
USER 65532:65532
