// SPDX-License-Identifier: Apache-2.0

// The peer of the jobs bench without its limits: the PyTorchJob controller of training-operator, as its module has
// it, with a client that waits for nobody and as many threads as are asked for. Its own command has a flag for the
// threads alone. No webhook and no certificate: the bench lets the API server call none.
package main

import (
	"flag"
	"fmt"
	"os"

	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	schedulerpluginsv1alpha1 "sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	"volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	kubeflowv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/controller.v1/pytorch"
)

// Below zero client-go has no limit; a burst without a rate is not looked at.
const unlimited = -1

type options struct {
	health  string
	metrics string
	threads int
}

func main() {
	var given options
	flag.StringVar(&given.health, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	flag.StringVar(&given.metrics, "metrics-bind-address", ":8080", "address of /metrics")
	flag.IntVar(&given.threads, "controller-threads", 10, "jobs that are reconciled at the same time")
	// --kubeconfig is a flag of controller-runtime's; the log is as its own command has it
	log := zap.Options{Development: true, StacktraceLevel: zapcore.DPanicLevel}
	log.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&log)))
	if err := run(given); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(given options) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		kubeflowv1.AddToScheme,
		v1beta1.AddToScheme,
		schedulerpluginsv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	setDefaults()
	client, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	client.QPS = unlimited
	manager, err := ctrl.NewManager(client, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: given.metrics},
		HealthProbeBindAddress: given.health,
	})
	if err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return err
	}
	reconciler := pytorch.NewReconciler(manager, common.GenNonGangSchedulerSetupFunc())
	if err := reconciler.SetupWithManager(manager, given.threads); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

// What its own command's flags set when none is given.
func setDefaults() {
	config.Config.PyTorchInitContainerImage = config.PyTorchInitContainerImageDefault
	config.Config.PyTorchInitContainerTemplateFile = config.PyTorchInitContainerTemplateFileDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault
}
