# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
"""A parameter server. Workers pull weights by RDMA Read, and push gradients by RDMA Write with Immediate.

    parameters.py serve PORT [WORKERS [MIB]]
    parameters.py work HOST:PORT [VERSIONS [MIB]]

MIB is the size of the weights, 256 by default, and the same for all programs. The server needs that much memory for the
weights and again for each worker. The workers end when they have made VERSIONS of the weights together, 20 by default.
Each version moves each weight half of the way to 3.
"""

import sys
import threading

import numpy
import sidewarp
from sidewarp import Access, RemoteAddress

# The model begins with a page that has the number of the latest version, in 8 bytes. The weights follow.
PAGE = 4096


def serve(port, workers, size):
    with sidewarp.connect(wait=60) as session:
        model = session.region(PAGE + size, access=Access.REMOTE_READ | Access.REMOTE_ATOMIC)
        weights = model.array("float32", offset=PAGE)
        lock = threading.Lock()

        def serve_worker(incoming):
            # Each worker has its own inbox, so workers do not overwrite each other's gradients.
            inbox = session.region(size, access=Access.REMOTE_WRITE)
            gradient = inbox.array("float32")
            with session.queue() as queue:
                # A message that finds no receive ends the connection. So the receive is there before the worker is.
                connection = session.create_connection()
                push = queue.receive(connection)
                addresses = model.address.encode() + inbox.address.encode()
                incoming.accept(connection=connection, private_data=addresses)
                try:
                    while True:
                        # Immediate Data arrives after the Write that it belongs to. The gradient is complete now.
                        version = push.wait().immediate
                        push = queue.receive(connection)
                        with lock:
                            numpy.add(weights, gradient, out=weights)
                        print(f"version {version}", flush=True)
                        # The answer permits the worker to use its inbox again.
                        connection.immediate(version)
                except sidewarp.FlushedError:
                    # The worker has disconnected, and the last receive has taken no message.
                    pass

        with session.listen(port) as listener:
            print("listening at port", listener.port, flush=True)
            threads = []
            for _ in range(workers):
                threads.append(threading.Thread(target=serve_worker, args=(listener.request(),)))
                threads[-1].start()
            for thread in threads:
                thread.join()
        print(f"the mean weight is {weights.mean():.3f}", flush=True)


def work(address, versions, size):
    with sidewarp.connect(wait=60) as session, session.queue() as queue:
        region = session.region(size)
        values = region.array("float32")
        with session.dial(address) as connection:
            model = RemoteAddress.decode(connection.private_data)
            inbox = RemoteAddress.decode(connection.private_data[12:])
            made = 0
            # Claims a version by FetchAdd in the server's memory. No other worker gets the same number.
            while (version := connection.fetch_add(model, 1).original + 1) <= versions:
                queue.read(connection, region, model + PAGE).wait()
                # The gradient replaces the weights in this memory. Other workers may change the weights meanwhile.
                numpy.subtract(3, values, out=values)
                values *= 0.5
                answer = queue.receive(connection)
                queue.write(connection, region, inbox, immediate=version).wait()
                answer.wait()
                made += 1
        print(f"made {made} versions", flush=True)


number = int(sys.argv[3]) if len(sys.argv) > 3 else 0
size = (int(sys.argv[4]) if len(sys.argv) > 4 else 256) << 20
if sys.argv[1] == "serve":
    serve(int(sys.argv[2]), number or 1, size)
else:
    work(sys.argv[2], number or 20, size)
