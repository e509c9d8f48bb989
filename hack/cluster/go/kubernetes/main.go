// SPDX-License-Identifier: Apache-2.0

// Command kubernetes is the whole control plane and the node's agents in one file.
//
// It is the part whose name it was called by: symlinks name the parts. One link of the packages that all five
// share takes a fifth of the disk and well under half of the time that five programs take.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // CronJobs with a time zone, whatever the host has installed

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func command(name string) *cobra.Command {
	switch name {
	case "kube-apiserver":
		return apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		return controllermanager.NewControllerManagerCommand()
	case "kube-scheduler":
		return scheduler.NewSchedulerCommand()
	case "kubelet":
		return kubelet.NewKubeletCommand(context.Background())
	case "kube-proxy":
		return proxy.NewProxyCommand()
	}
	return nil
}

func main() {
	name := filepath.Base(os.Args[0])
	part := command(name)
	if part == nil {
		fmt.Fprintf(os.Stderr, "%q names no part: call this file through a symlink named kube-apiserver, "+
			"kube-controller-manager, kube-scheduler, kubelet or kube-proxy\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(part))
}
