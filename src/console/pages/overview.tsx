/** What happens now. */
import type { PageProps } from '../page.ts'
import { Head } from '../parts/head.tsx'

export default function Overview({ me }: PageProps) {
  return <Head title="Overview" sub={<bdi>{me.name}</bdi>} />
}
