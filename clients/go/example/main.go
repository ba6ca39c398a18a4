// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Command example writes a text into the memory of a peer by RDMA Write.
//
//	example HOST:PORT
//
// The peer sends the address of its region as private data: the STag and the tagged offset, 12 bytes in network byte
// order. The clients in Java, JavaScript and Python send it so, too.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/local"
	pb "sidewarp.io/clients/go/sidewarp/v1"
)

const text = "hello, memory"

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: example HOST:PORT")
	}
	host, service, err := net.SplitHostPort(os.Args[1])
	check(err)
	port, err := strconv.ParseUint(service, 10, 16)
	check(err)

	ctx := context.Background()
	conn, err := grpc.Dial(setting("SIDEWARP_API", "unix:///run/sidewarp/api.sock"),
		grpc.WithTransportCredentials(local.NewCredentials()))
	check(err)
	defer conn.Close()
	devices, memory := pb.NewDeviceServiceClient(conn), pb.NewMemoryServiceClient(conn)
	connections, transfer := pb.NewConnectionServiceClient(conn), pb.NewTransferServiceClient(conn)

	// The session lasts as long as this stream. A long-lived program reads its events.
	stream, err := devices.OpenSession(ctx, &pb.OpenSessionRequest{Name: "go-example"})
	check(err)
	opened, err := stream.Recv()
	check(err)
	session := opened.GetOpened().GetSession()

	name := fmt.Sprintf("go-example-%d", os.Getpid())
	region, err := memory.RegisterRegion(ctx, &pb.RegisterRegionRequest{
		Session: session,
		Access:  []pb.Access{pb.Access_ACCESS_LOCAL_WRITE},
		Backing: &pb.RegisterRegionRequest_Shared{Shared: &pb.SharedBacking{Path: name, Length: 4096, Create: true}},
	})
	check(err)
	// The memory of the region is this file. A program that uses it often maps it: syscall.Mmap.
	file, err := os.OpenFile(filepath.Join(setting("SIDEWARP_VOLUME", "/run/sidewarp/shared"), name), os.O_RDWR, 0)
	check(err)
	defer file.Close()
	_, err = file.WriteAt([]byte(text), 0)
	check(err)

	connected, err := connections.Connect(ctx, &pb.ConnectRequest{Session: session, Address: host, Port: uint32(port)})
	check(err)
	connection, address := connected.Connection.Id, connected.Connection.PrivateData
	if len(address) < 12 {
		log.Fatalf("the peer sent %d bytes of private data, and no address", len(address))
	}
	_, err = transfer.Write(ctx, &pb.WriteRequest{Session: session, Connection: connection, Work: &pb.WriteWork{
		Local: []*pb.Sge{{Region: region.Region.Id, Length: uint64(len(text))}},
		Remote: &pb.RemoteAddress{
			Stag:         binary.BigEndian.Uint32(address),
			TaggedOffset: binary.BigEndian.Uint64(address[4:]),
		},
	}})
	check(err)
	// When this succeeds, the peer has the text in its memory.
	_, err = transfer.Flush(ctx, &pb.FlushRequest{Session: session, Connection: connection})
	check(err)
	_, err = devices.CloseSession(ctx, &pb.CloseSessionRequest{Session: session})
	check(err)
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
