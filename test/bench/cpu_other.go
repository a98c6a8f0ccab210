//go:build !linux

// This file is for systems on which processor time and memory are not read.

package main

import (
	"os"
	"time"
)

func processorTime() (time.Duration, bool) { return 0, false }

func threadTime() (time.Duration, bool) { return 0, false }

func processorTimeOf(int) (time.Duration, bool) { return 0, false }

func anonymousMemoryBytes() (int64, bool) { return 0, false }

func peakMemory(*os.ProcessState) int64 { return 0 }

func ownPeak() int64 { return 0 }
