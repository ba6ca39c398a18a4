# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Image with the JavaScript client and the examples. README.md, "In pods", tells how to build it.
FROM node:22-slim AS client
COPY proto /proto
COPY clients/javascript /clients/javascript
WORKDIR /clients/javascript
RUN npm ci \
    && npm pack --pack-destination /tmp

FROM node:22-slim
COPY examples /examples
COPY --from=client /tmp/sidewarp-*.tgz /tmp/
RUN npm install --prefix /examples /tmp/sidewarp-*.tgz
USER 65532:65532
