// This file implements the command line of the program.

// Command wine builds oxbow for Windows, and runs the program and the tests of packages under Wine. Wine runs Windows
// programs on Linux. On Debian, this installs the packages that the command needs:
//
//	apt-get install wine64 gcc-mingw-w64-x86-64-win32
//
// If no packages are named, the command tests the packages that work with files, locks and paths:
//
//	go run ./internal/deploy/wine
//	go run ./internal/deploy/wine ./vfs ./internal/log/wal
//
// If the flag --program names a program, such as the oxbow.exe of a release, the command tests no packages. It only
// runs the demo and the commands of a new user with this program:
//
//	go run ./internal/deploy/wine --program oxbow.exe
//
// For each package, it prints how many tests passed, failed and were skipped, and which tests failed. An interrupted
// run prints the counts so far. The exit status is 1 if the program does not work or if a test failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// defaultTestPackages lists the packages whose code depends on the file system, locks, processes, or the form of
// paths.
var defaultTestPackages = []string{
	".", "./vfs", "./internal/base/...", "./internal/log/...", "./internal/tree/...", "./internal/setup",
	"./internal/screening/...", "./internal/agent/clientfile", "./internal/agent/session/...",
}

func main() {
	repository := flag.String("repository", ".", "the directory of the clone")
	prefix := flag.String("prefix", "", "the directory of Wine's files, which is kept; a temporary one when empty")
	built := flag.String("program", "", "an oxbow.exe to try instead of one built from the clone, without tests")
	flag.Parse()
	chosen := flag.Args()
	if len(chosen) == 0 && *built == "" {
		chosen = defaultTestPackages
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := testUnderWine(ctx, *repository, *prefix, *built, chosen)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "wine:", err)
		os.Exit(1)
	}
}
