/* SPDX-License-Identifier: GPL-2.0 */
/*
 * v6.10: dma_need_sync() is right behind an IOMMU (commit f406c8e4b770);
 * before, it says yes for every device there.  Memory is synchronized for
 * devices that are not coherent with the caches, and for those that are not
 * trusted, which get bounce buffers.
 */
#ifndef SMC_COMPAT_DMA_MAPPING_H
#define SMC_COMPAT_DMA_MAPPING_H

#include_next <linux/dma-mapping.h>
#include <linux/dma-map-ops.h>
#include <linux/iommu.h>
#include <linux/pci.h>

/* Does the IOMMU map for this device, without bounce buffers? */
#define smc_compat_iommu_coherent(dev)					\
	(get_dma_ops(dev) && device_iommu_mapped(dev) &&		\
	 dev_is_dma_coherent(dev) &&					\
	 !(dev_is_pci(dev) && to_pci_dev(dev)->untrusted))

#define dma_need_sync(dev, addr)					\
	(!smc_compat_iommu_coherent(dev) && dma_need_sync(dev, addr))

#endif /* SMC_COMPAT_DMA_MAPPING_H */
