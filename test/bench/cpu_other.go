//go:build !linux

// The fallback for processor time and memory where they are not read.

package main

import (
	"os"
	"time"
)

func processorTime() (time.Duration, bool) { return 0, false }

func threadTime() (time.Duration, bool) { return 0, false }

func anonymous() (int64, bool) { return 0, false }

func peakMemory(*os.ProcessState) int64 { return 0 }

func ownPeak() int64 { return 0 }
