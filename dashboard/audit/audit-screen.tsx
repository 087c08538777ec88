// Who did what in the open account.

import { PageHeader } from '../parts/page-header.tsx';
import { useAccount } from '../session/session.tsx';
import { AuditTable } from './audit-table.tsx';

export default function AuditScreen() {
  const { id, name } = useAccount();
  return (
    <>
      <PageHeader title="Audit log" description={`Who did what in ${name}, newest first.`} />
      <AuditTable key={id} queryKey={['audit', id]} path={`/accounts/${id}/audit`} />
    </>
  );
}
