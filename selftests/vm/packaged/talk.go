// SPDX-License-Identifier: GPL-2.0
//
// talk - a server and its client in one program of Go, which makes its system
// calls without a C library.  Says how many bytes the server got.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
)

func serve(l net.Listener, got chan<- int64) {
	c, err := l.Accept()
	if err != nil {
		log.Fatal(err)
	}
	n, err := io.Copy(io.Discard, c)
	if err != nil {
		log.Fatal(err)
	}
	got <- n
	c.Close()
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:7001")
	if err != nil {
		log.Fatal(err)
	}
	got := make(chan int64)
	go serve(l, got)
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Write(make([]byte, 1000000)); err != nil {
		log.Fatal(err)
	}
	c.(*net.TCPConn).CloseWrite()
	fmt.Println(<-got, "bytes")
}
