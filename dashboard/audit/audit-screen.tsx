// The audit log of the selected account.
import { PageHeader } from '../parts/page-header.tsx';
import { useAccount } from '../session/session.tsx';
import { AuditTable } from './audit-table.tsx';

export default function AuditScreen() {
  const { id, name } = useAccount();
  return (
    <>
      <PageHeader
        title="Audit log"
        description={`Actions of members, administrators and programs in ${name}.`}
      />
      <AuditTable key={id} queryKey={['audit', id]} path={`/accounts/${id}/audit`} />
    </>
  );
}
