module sidewarp.io/clients/go

go 1.19

require (
	google.golang.org/grpc v1.58.3
	google.golang.org/protobuf v1.33.0
)
