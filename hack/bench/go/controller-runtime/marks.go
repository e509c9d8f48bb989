// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mark prints what was reached, at which reading of the monotonic clock, and what it took so far.
func mark(what string) {
	line, _ := json.Marshal(map[string]any{
		"mark": what, "at": clock(unix.CLOCK_MONOTONIC), "cpu": clock(unix.CLOCK_PROCESS_CPUTIME_ID), "peak": peak(),
	})
	fmt.Println(string(line))
}

func clock(id int32) float64 {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		panic(err)
	}
	return float64(now.Sec) + float64(now.Nsec)/1e9
}

func peak() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for _, row := range strings.Split(string(text), "\n") {
		if value, found := strings.CutPrefix(row, "VmHWM:"); found {
			kibibytes, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				panic(err)
			}
			return kibibytes * 1024
		}
	}
	panic("no VmHWM in /proc/self/status")
}
